// If an answer is lost, a client may send the script again. The same owner then gets the same answer.

/** Claims the key for the owner ARGV[1] for ARGV[2] milliseconds, unless another owner holds it or it is done. */
export const CLAIM_SCRIPT = `
local holder = redis.call('GET', KEYS[1])
if holder == false or holder == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 'claimed'
end
if string.sub(holder, 1, 5) == 'done:' then return 'done' end
return 'held'`;

/** Lets the key live for ARGV[2] milliseconds from now if ARGV[1] holds it. */
export const RENEW_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Marks the key done for ARGV[2] milliseconds, unless another owner than ARGV[1] took it after its lease. */
export const COMPLETE_SCRIPT = `
local holder = redis.call('GET', KEYS[1])
local done = 'done:' .. ARGV[1]
if holder and holder ~= ARGV[1] and holder ~= done then return 0 end
redis.call('SET', KEYS[1], done, 'PX', ARGV[2])
return 1`;

/** Keeps the later of the key's time and ARGV[1] for ARGV[2] milliseconds, and returns it. */
export const KEEP_NEWEST_SCRIPT = `
local newest = redis.call('GET', KEYS[1])
if newest == false or newest < ARGV[1] then newest = ARGV[1] end
redis.call('SET', KEYS[1], newest, 'PX', ARGV[2])
return newest`;

/** Deletes the key if ARGV[1] holds it. */
export const RELEASE_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

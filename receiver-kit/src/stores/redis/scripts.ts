/** Claims the key for the owner ARGV[1] for ARGV[2] milliseconds, unless it exists. */
export const CLAIM_SCRIPT = `
local holder = redis.call('GET', KEYS[1])
if holder == false then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 'claimed'
end
if holder == 'done' then return 'done' end
return 'held'`;

/** Sets the key to ARGV[2] for ARGV[3] milliseconds if ARGV[1] holds it. */
export const UPDATE_HELD_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
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

-- Drawn once: 12 hexadecimal characters.
INSERT IGNORE INTO installation (only_one, id)
VALUES (TRUE, LEFT(SHA2(CONCAT(UUID(), RAND(), DATABASE()), 256), 12));

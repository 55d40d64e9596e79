-- The first header lines of the answer, each `name: value` and a line feed. Empty where none were kept.
ALTER TABLE delivery_attempt
  ADD COLUMN response_headers VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '';

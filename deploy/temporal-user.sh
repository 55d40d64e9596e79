#!/bin/sh
# Runs at the database's first start. Temporal gets rights on its two databases, and none on the product's.
mysql --user=root --password="$(cat /run/secrets/database-root-password)" <<SQL
CREATE USER 'temporal'@'%' IDENTIFIED BY '$(cat /run/secrets/temporal-password)';
GRANT ALL ON temporal.* TO 'temporal'@'%';
GRANT ALL ON temporal_visibility.* TO 'temporal'@'%';
SQL

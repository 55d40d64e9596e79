#!/bin/sh
# Runs at the database's first start: Temporal's two databases are its own, and the product's are not.
mysql --user=root --password="$(cat /run/secrets/database-root-password)" <<SQL
CREATE USER 'temporal'@'%' IDENTIFIED BY '$(cat /run/secrets/temporal-password)';
GRANT ALL ON temporal.* TO 'temporal'@'%';
GRANT ALL ON temporal_visibility.* TO 'temporal'@'%';
SQL

#!/bin/sh
# Makes the secrets that compose.yaml names, in deploy/secrets, where they are not there yet. The folder lets
# nobody else in; the files must be readable, because containers that are not root read them.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
cd secrets
make() { test -s "$1" || openssl rand -hex 32 >"$1"; }
make cursor-keys
make secret-keys
make database-password
make database-root-password
make temporal-password
test -s database-url ||
  echo "mysql://activity:$(cat database-password)@database:3306/activity" >database-url
chmod 444 ./*

#!/bin/sh
# Creates the missing secrets of compose.yaml in deploy/secrets. Only the owner may enter the folder. The files are
# readable by all, because containers that are not root read them.
set -eu
cd "$(dirname "$0")"
# Containers that are not root read these files too. A checkout with umask 077 lets only its owner read them.
chmod -R a+rX prometheus temporal temporal-user.sh
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

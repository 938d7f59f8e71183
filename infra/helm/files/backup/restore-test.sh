#!/bin/sh
# Restores the newest dump into a Postgres of its own, in SCRATCH_DIR, and reads every row of it. Fails if
# there is no dump, if the newest is older than BACKUP_MAX_AGE_HOURS, or if anything in it does not restore.
set -eu

newest="$(ls "$BACKUP_DIR" | grep '^sluice-.*\.dump$' | sort | tail -n 1)"
[ -n "$newest" ] || { echo "no backup in $BACKUP_DIR" >&2; exit 1; }
dump="$BACKUP_DIR/$newest"
[ -n "$(find "$dump" -mmin "-$((BACKUP_MAX_AGE_HOURS * 60))")" ] || {
  echo "$newest is older than $BACKUP_MAX_AGE_HOURS hours" >&2
  exit 1
}

# initdb asks who the user is; where the cluster assigns users, they have no name.
library="$(ls /usr/lib/*/libnss_wrapper.so 2> /dev/null | head -n 1 || true)"
if ! id -un > /dev/null 2>&1 && [ -n "$library" ]; then
  echo "postgres:x:$(id -u):$(id -g)::/tmp:/bin/false" > /tmp/passwd
  echo "postgres:x:$(id -g):" > /tmp/group
  export LD_PRELOAD="$library" NSS_WRAPPER_PASSWD=/tmp/passwd NSS_WRAPPER_GROUP=/tmp/group
fi

data="$SCRATCH_DIR/data"
rm -rf "$data"
initdb --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 --no-sync > /dev/null
stop() {
  pg_ctl --pgdata="$data" --mode=immediate stop > /dev/null 2>&1 || true
  rm -rf "$data"
}
trap stop EXIT
pg_ctl --pgdata="$data" --log="$SCRATCH_DIR/postgres.log" --wait start \
  --options="-c listen_addresses='' -c unix_socket_directories='$SCRATCH_DIR' -c fsync=off" > /dev/null || {
  cat "$SCRATCH_DIR/postgres.log" >&2
  exit 1
}
export PGHOST="$SCRATCH_DIR" PGUSER=postgres PGDATABASE=restored
createdb restored
# A dump names roles that it does not contain: they belong to the server.
for role in $BACKUP_ROLES; do
  createuser --no-login "$role"
done
pg_restore --no-owner --exit-on-error --dbname=restored "$dump"
# Reads every row once more.
pg_dump --format=custom --compress=0 restored > /dev/null
migrations="$(psql --no-align --tuples-only --command='select count(*) from schema_migrations')"
[ "$migrations" -gt 0 ] || { echo "$newest holds no migrations" >&2; exit 1; }
calls="$(psql --no-align --tuples-only --command='select count(*) from llm_requests')"
echo "$newest restores: $migrations migrations, $calls calls"

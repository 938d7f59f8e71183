#!/bin/sh
# Writes one dump of the database into BACKUP_DIR and deletes all but the newest BACKUP_KEEP. A dump has its
# name only when it is whole: pg_dump that fails leaves an empty file.
set -eu
. "$(dirname "$0")/connection.sh"

name="sluice-$(date -u +%Y-%m-%dT%H%M%SZ).dump"
partial="$BACKUP_DIR/.$name.partial"
# Of runs that were killed.
rm -f "$BACKUP_DIR"/.sluice-*.partial
trap 'rm -f "$partial"' EXIT
pg_dump --format=custom --no-owner --file="$partial" --dbname="$database"
# Reads the table of contents: a file that is not a whole dump is refused here.
pg_restore --list "$partial" > /dev/null
mv "$partial" "$BACKUP_DIR/$name"
echo "$name: $(wc -c < "$BACKUP_DIR/$name") bytes"

# Names sort by time.
ls "$BACKUP_DIR" | grep '^sluice-.*\.dump$' | sort -r | tail -n "+$((BACKUP_KEEP + 1))" |
  while read -r old; do
    rm -f "$BACKUP_DIR/$old"
    echo "$old: deleted"
  done

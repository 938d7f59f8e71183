# Sourced. Sets `database` for --dbname, from the variables that the services have.
if [ -n "${DATABASE_SSL_CA:-}" ]; then
  printf '%s\n' "$DATABASE_SSL_CA" > /tmp/database-ca.pem
  export PGSSLROOTCERT=/tmp/database-ca.pem PGSSLMODE=verify-full
fi
if [ -n "${DATABASE_URL:-}" ]; then
  database="$DATABASE_URL"
else
  export PGHOST="$DATABASE_HOST" PGPORT="${DATABASE_PORT:-5432}"
  export PGUSER="$DATABASE_USER" PGPASSWORD="$DATABASE_PASSWORD"
  if [ "${DATABASE_SSL:-}" = true ] && [ -z "${PGSSLMODE:-}" ]; then
    export PGSSLMODE=verify-full PGSSLROOTCERT=system
  fi
  database="${DATABASE_NAME:-sluice}"
fi

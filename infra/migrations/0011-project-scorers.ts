import type { Knex } from 'knex'

/** Scorers that projects make themselves, their settings by scorer, and what the scorer service runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(projectScorers + settings + catalogue)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'drop table scorer_catalogue, project_scorer_settings, project_scorer_versions, project_scorers',
  )
}

const projectScorers = `
  create table project_scorers (
    id uuid primary key,
    project_id uuid not null references projects (id),
    name text not null,
    kind text not null check (kind in ('keyword_list', 'regex', 'criterion')),
    definition jsonb not null,
    description text,
    severity text not null check (severity in ('medium', 'high', 'critical')),
    owasp_category text,
    enabled boolean not null,
    -- Raised by every change of what it finds or says; switching it on or off is none.
    version integer not null,
    created_by text not null,
    updated_by text not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    unique (project_id, name)
  );

  -- Every version, the current one too; of each scorer the last hundred.
  create table project_scorer_versions (
    project_id uuid not null references projects (id),
    scorer_id uuid not null references project_scorers (id) on delete cascade,
    version integer not null,
    name text not null,
    definition jsonb not null,
    description text,
    severity text not null,
    owasp_category text,
    created_by text not null,
    created_at timestamptz(3) not null,
    primary key (scorer_id, version)
  );
`

const settings = `
  -- Of built-in scorers, scorers of the file and criteria. No row: on, with its own threshold.
  create table project_scorer_settings (
    project_id uuid not null references projects (id),
    scorer text not null,
    enabled boolean not null default true,
    -- The lowest unsafe value. Null: the rubric's.
    fail_at double precision check (fail_at between 2 and 5),
    updated_by text not null,
    updated_at timestamptz(3) not null,
    primary key (project_id, scorer)
  );
`

const catalogue = `
  -- Written by scorers when they start and when their file changes: the API reads neither.
  create table scorer_catalogue (
    name text primary key,
    kind text not null check (kind in ('built_in', 'file')),
    -- Of the detector, or of the file's entry.
    version text not null,
    -- Of the rubric. Null: no judge is configured.
    judge_version text,
    fail_at double precision,
    severity text,
    owasp_category text,
    description text,
    -- Tiers with this scorer; null: all.
    tiers text[],
    -- Null: every project.
    projects uuid[],
    -- When a version last changed: scores from before may have another.
    changed_at timestamptz(3) not null
  );
`

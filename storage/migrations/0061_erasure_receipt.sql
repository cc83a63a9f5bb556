-- compatible
-- What was erased at somebody's request (STO-7), without who it was: of a person a salted hash.
create table erasure_receipt (
  id uuid primary key,
  kind text not null check (kind in ('connection', 'person')),
  connection_id uuid,
  salt bytea,
  person_hash bytea,
  workspace_id uuid,
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  erased jsonb not null default '{}',
  remaining jsonb not null default '{}',
  rewritten boolean not null default false,
  check ((kind = 'connection') = (connection_id is not null)),
  check ((kind = 'person') = (salt is not null and person_hash is not null))
);

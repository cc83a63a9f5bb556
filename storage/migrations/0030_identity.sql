-- compatible
-- Operators, who are no workspace's, and the sessions of the console. The reference to `api_key` locks it against writes for as long as the
-- new table is made, which is empty.
create table operator (
  id uuid primary key,
  name text not null,
  key_hash bytea not null unique,
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  last_used_from text,
  revoked_at timestamptz
);

create table console_session (
  token_hash bytea primary key,
  key_id uuid references api_key on delete cascade,
  operator_id uuid references operator on delete cascade,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null,
  revoked_at timestamptz,
  constraint console_session_holder check (num_nonnulls(key_id, operator_id) = 1)
);
create index console_session_by_holder on console_session (coalesce(key_id, operator_id), created_at);
create index console_session_by_expiry on console_session (expires_at);

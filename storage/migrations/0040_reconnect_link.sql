-- compatible
-- The link by which the owner of an account signs it in again (CONN-15); the newest of each connection. What proves a link is not stored.
create table reconnect_link (
  connection_id uuid primary key references connection (id) on delete cascade,
  id uuid not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- SHA-256 of what the page that uses it has made up; null until one does.
  page_hash bytea check (length(page_hash) = 32),
  tries integer not null default 0,
  operation_id uuid
);

-- One row: what belongs to the installation as a whole, whichever nodes serve it and however often its
-- encryption keys are rotated.
create table installation (
  id boolean primary key default true check (id),
  fingerprint_secret bytea not null check (length(fingerprint_secret) = 32),  -- hashes requests for idempotency
  created_at timestamptz not null default now()
);

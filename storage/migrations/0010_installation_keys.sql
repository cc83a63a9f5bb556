-- compatible
-- Which encryption keys the nodes of this installation have, so that a command with other keys can tell before it seals anything
-- that no node could open. Never the keys: a hash of each, which 256 random bits cannot be searched for.
create table installation_key (
  key_id text primary key,
  check_value bytea not null check (length(check_value) = 32),
  created_at timestamptz not null default now()
);
-- The secret that hashes requests, sealed. The plain one, which a node of the version before reads when it starts, stays beside it
-- until `encryption rotate` removes it.
alter table installation
  add column fingerprint_secret_sealed bytea,
  alter column fingerprint_secret drop not null,
  add constraint installation_has_fingerprint_secret
    check (fingerprint_secret is not null or fingerprint_secret_sealed is not null);

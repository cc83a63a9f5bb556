-- compatible
-- The password that was given at a link, until a login has proved it (CONN-15).
alter table reconnect_link add column password_sealed bytea;
create index reconnect_link_given on reconnect_link (expires_at) where password_sealed is not null;

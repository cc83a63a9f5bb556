-- compatible
-- Simulated connections by the hash id of an `external_actor.id` that no recipient field takes (CONN-13).
create index connection_actor_hash on connection (workspace_id, md5(actor_id)) where provider = 'simulated';

-- compatible
-- What a workspace stores counts its entries of the audit log too (HTTP-27): the measurement goes over its operations, then over its entries behind
-- (`entries_at`, `entries_id`). A node of the version before finds no operation behind `after` then, and ends the measurement with what was found so far.
alter table stored_turn add column entries_at timestamptz, add column entries_id uuid;

-- The bytes of a downloaded file, in parts as they came (decision O14); the rest of the result stands in the operation. They are
-- the file once the operation has succeeded, under the attempt that did. Every part but the last is a multiple of three bytes
-- long, so that their base64 texts join.
create table operation_file (
  operation_id uuid not null references operation on delete cascade,
  attempt_id uuid not null,
  part integer not null check (part >= 0),
  bytes bytea not null,
  primary key (operation_id, attempt_id, part)
);
-- Files are mostly compressed already.
alter table operation_file alter column bytes set storage external;

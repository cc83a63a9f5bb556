-- compatible
-- What changes an operation between its acceptance and its end is told to pages, those of other nodes too. A node of the version before counts
-- none of it. The table keeps an hour, and is locked for a moment.
alter table overview_step
  add column moves integer not null default 0,
  add column resumes integer not null default 0;

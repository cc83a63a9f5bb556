-- compatible
-- Times of events are stored as exact as they are shown: a time that a client gives back means the event that it was shown with.
alter table event alter column received_at set default date_trunc('milliseconds', now());

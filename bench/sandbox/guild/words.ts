/** What the network is called and what it calls everything as the guild: its own word, and behind it the guild's. */

export const GUILD_HOSTS: Readonly<Record<string, string>> = {
  'www.social.test': 'app.guild.test',
  'files.social.test': 'media.guild.test',
  'social.test': 'guild.test',
};

export const COOKIES = pairs('sn_session gd_pass, sn_csrf gd_token');
export const HEADERS = pairs('x-csrf-token x-guild-token, x-file-name x-upload-title');

/** Paths; a segment with a colon stands for itself. What people alone visit keeps its path. */
export const PATHS: readonly (readonly [own: string, guild: string])[] = [
  ['/', '/'],
  ['/login', '/enter'],
  ['/logout', '/leave'],
  ['/feed', '/hall'],
  ['/checkpoint/challenge/:id', '/gate/check/:id'],
  ['/checkpoint/restricted', '/gate/closed'],
  ['/recruiter', '/desk'],
  ['/recruiter/contracts', '/desk/deals'],
  ['/in/:id', '/in/:id'],
  ['/company/:id', '/company/:id'],
  ['/jobs/view/:id', '/jobs/view/:id'],
  ['/api/me', '/rpc/self'],
  ['/api/members/resolve', '/rpc/handles'],
  ['/api/search/people', '/rpc/find/persons'],
  ['/api/search/jobs', '/rpc/find/openings'],
  ['/api/profiles/:id', '/rpc/persons/:id/sheet'],
  ['/api/companies', '/rpc/firms'],
  ['/api/typeahead', '/rpc/suggest'],
  ['/api/connections', '/rpc/contacts'],
  ['/api/invitations', '/rpc/requests'],
  ['/api/invitations/sent', '/rpc/requests/outgoing'],
  ['/api/conversations', '/rpc/threads'],
  ['/api/conversations/search', '/rpc/find/threads'],
  ['/api/conversations/with/:id', '/rpc/persons/:id/thread'],
  ['/api/conversations/:id', '/rpc/threads/:id'],
  ['/api/conversations/:id/messages', '/rpc/threads/:id/letters'],
  ['/api/messages', '/rpc/letters'],
  ['/api/attachments', '/rpc/uploads'],
  ['/api/jobs/:id', '/rpc/openings/:id'],
  ['/api/recruiter/seat', '/rpc/desk/own'],
  ['/api/recruiter/typeahead', '/rpc/desk/suggest'],
  ['/api/recruiter/search', '/rpc/desk/find'],
  ['/realtime', '/rpc/live'],
];

/** Fields of JSON and parameters of queries. */
export const FIELDS = pairs(`
  data result, paging page, error fault, status http, code reason_code, message note, total all, start from, count take,
  nextCursor next_mark, nextStart next_from, cursor mark, missing unknown,
  hashId key, publicId handle, memberId number, urn ref, firstName given, lastName family, headline motto, pictureUrl portrait,
  name label, distance degree, summary abstract, location place, profileUrl sheet_link, insights hints, badgeHoverText badge_tip,
  id uid, category folder, participants persons, unreadCount unseen, lastActivityAt touched_at, lastMessage last_letter,
  body words, senderHashId author_key, senderName author, deliveredAt arrived_at, conversationId thread_uid, renderContent parts,
  attachment upload, contentType media_type, size bytes, url link, recipientHashId to_key, recipientHashIds to_keys,
  attachments uploads, streamId live_uid, at moment, reason cause, type sort, payload details, messageUrn letter_ref,
  sponsor advertiser, subject topic, acceptedAt agreed_at,
  industry trade, about story, connectedAt met_at, pendingInvitation asked, contact reach, email mail, address street,
  phoneNumbers phones, experience posts, title role, company firm, companyId firm_uid, description prose, startedOn since,
  endedOn until, year y, month m, education studies, school academy, schoolId academy_uid, degree diploma, fieldOfStudy major,
  startYear first_year, endYear last_year, skills abilities, languages tongues,
  tagline slogan, websiteUrl website, phone telephone, employeeCount staff, employeeCountRange staff_range, end to,
  foundedYear founded, industries trades, specialties strengths, logoUrl emblem, coverImageUrl banner, headquarter seat,
  city town, country land, locations places, kind class, q begins, text caption, subtext small_print,
  invitationId request_uid, sentAt asked_at, recipient addressee, publicIds handles, includeTotal with_all,
  jobId opening_uid, companyName firm_label, insight hint, easyApply quick_apply, listedAt posted_at, repostedAt renewed_at,
  posting terms, jobType contract_sort, workplaceType whereabouts, functionId craft_uid, industryId trade_uid, salary pay,
  expiresAt ends_at, application applying, method way, applicants applied, contractId deal_uid, contractName deal_label,
  recruiting hiring, candidateId candidate_uid, openToWork available, yearsOfExperience years_worked, seniority rank,
  jobFunction craft, lastActiveAt seen_at, formattedTotal all_text, facets facet_counts, values buckets,
  querySummary asked_text, highlightTerms marked_words,
  keywords query, locationId place_uid, currentCompanyId firm_now, pastCompanyId firm_before, serviceCategoryId service_uid,
  network circle, connectionOf known_by, followerOf follows, profileLanguage tongue, openToVolunteer volunteers,
  lastActivityBefore touched_before, deliveredBefore arrived_before, categories folders, firstDegree contacts_only,
  populatedPlaceId town_uid, titleId role_uid, commitment cause_sort, salaryBucket pay_band, timePosted posted_within,
  sortBy order, earlyApplicant among_first, inYourNetwork in_circle, decorationId dressing,
  titles roles, companies firms, schools academies, currentCompanies firms_now, pastCompanies firms_before,
  firstNames givens, lastNames families, zipCodes postcodes, companySizes firm_sizes, jobFunctions crafts, seniorities ranks,
  networks circles, profileLanguages profile_tongues, recentlyJoined joined_lately, graduationYear graduated, veteran served,
  filter rule, scope span, min least, max most, csrf token, next then, username member, password passphrase, contract deal`);

const KINDS = `company firm, job_function craft, industry trade, location place, people person, school academy, skill ability,
  job_title role, service_category service, zip postcode`;
const FOLDERS = 'PRIMARY_INBOX main, SECONDARY_INBOX side, INMAIL direct, ARCHIVE stored, SPAM junk';

/** By field: the values of answers that are words of the site. */
export const ANSWER_WORDS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  distance: pairs('SELF me, F near, S far, O beyond'),
  kind: pairs(KINDS),
  category: pairs(FOLDERS),
  type: pairs(`message_received letter_in, message_sent letter_out, sponsored_inmail_received advert_in,
    custom_connection_request_accepted request_agreed`),
  code: pairs(`bad_request e_input, session_required e_session, csrf_mismatch e_token, account_restricted e_closed,
    not_found e_none, method_not_allowed e_method, too_large e_size, rate_limited e_pace, server_error e_inside,
    stream_unavailable e_live, recruiter_unavailable e_no_desk, recruiter_contract_required e_no_deal, invalid_filter e_filter,
    self_target e_self, unknown_attachment e_upload,
    INVITATION_SENT placed, ALREADY_CONNECTED known, INVITATION_PENDING waiting, CANNOT_INVITE closed`),
};

/** By parameter: the values of queries that are words of the site, alone or in a list. */
export const QUERY_WORDS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  kind: pairs(KINDS),
  category: pairs(FOLDERS),
  categories: pairs('INBOX received, SPAM junk, ARCHIVE stored, INMAIL direct'),
};

/** By field: the values of requests' bodies that are words of the site, alone or in a list. */
export const BODY_WORDS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  filter: pairs('CAN_HAVE may, MUST_HAVE must, DOESNT_HAVE not'),
  scope: pairs(`CURRENT_OR_PAST ever, CURRENT now, PAST once, PAST_NOT_CURRENT no_more, PREFERRED_NOT_CURRENT wished,
    CURRENT_OR_PREFERRED now_or_wished`),
  networks: pairs('F near, S far, A groups, O beyond'),
  companySizes: pairs('A s1, B s2, C s3, D s4, E s5, F s6, G s7, H s8, I s9'),
};

/** Statuses of refusals that differ, by the network's own code. */
export const STATUSES: Readonly<Record<string, number>> = {
  bad_request: 422,
  account_restricted: 423,
  recruiter_unavailable: 402,
  recruiter_contract_required: 412,
  invalid_filter: 406,
  self_target: 409,
  unknown_attachment: 410,
};

export const FRAMES = pairs('connected open, heartbeat tick, goodbye close, activity news');

/** Attributes of pages, and the values of those that hold words of the site. */
export const ATTRIBUTES = pairs(`data-page data-room, data-error data-fault, data-challenge-id data-check-id,
  data-challenge-kind data-check-sort, data-hash-id data-key, data-public-id data-handle, data-member-id data-number,
  data-post-id data-note-id, data-contract-id data-deal-id, data-contract-name data-deal-label, data-current data-chosen,
  data-reason data-cause, data-job-id data-opening-id, data-company-id data-firm-id`);
const MARKS = pairs(`username member-field, password passphrase-field, login-form enter-form, login-submit enter-button,
  login-error enter-refused, challenge check, challenge-prompt check-prompt, challenge-error check-wrong,
  challenge-form check-form, challenge-submit check-button, code digits, captcha puzzle, passkey device-key, expired check-over,
  restriction closed-note, identity whoami, identity-name whoami-label, identity-headline whoami-motto, logout-form leave-form,
  feed hall-notes, post note, recruiter-seat desk-own, recruiter desk-top, contracts deal-list, contract deal-form,
  recruiter-unavailable no-desk-note, not-found none-note, forbidden token-note, error inside-note, profile sheet-note,
  job opening-note, company firm-note`);
export const ATTRIBUTE_WORDS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  id: MARKS,
  class: MARKS,
  for: MARKS,
  name: pairs('csrf token, next then, username member, password passphrase, code digits, contract deal'),
  'data-page':
    pairs(`login enter, challenge check, challenge-expired check-over, restricted closed, feed hall, recruiter desk,
    recruiter-contracts deals, recruiter-unavailable no-desk, forbidden token-old, not-found none, error inside,
    profile sheet, company firm, job opening`),
  'data-challenge-kind': pairs('email mail, sms text, authenticator app, approval nod, captcha puzzle, passkey device'),
  'data-current': pairs('true yes, false no'),
};

/** `own guild, own guild`. */
function pairs(text: string): ReadonlyMap<string, string> {
  const map = new Map(text.split(',').map((pair) => pair.trim().split(' ') as [own: string, guild: string]));
  if (new Set(map.values()).size !== map.size) throw new Error('a word of the guild stands for two');
  return map;
}

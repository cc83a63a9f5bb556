/** What an operation comes to: as little work as for a simulated connection of the service, and a result of the same size and shape. */
export function profileOf({ profile_id }) {
  return {
    profile: {
      source: 'full',
      hash_id: `HASH_${profile_id}`,
      member_id: '1815121019',
      public_id: profile_id,
      first_name: 'Ada',
      last_name: 'Lovelace',
      headline: 'Programmer at Analytical Engines',
      profile_picture: `https://files.peers.test/pictures/${profile_id}.png`,
      industry: 'Computing Machinery',
      location: 'London, United Kingdom',
      public_profile_url: `https://www.peers.test/in/${profile_id}`,
      email: null,
      address: null,
      phone_numbers: [],
      about: 'Ada works as Programmer in London, United Kingdom.',
      experience: [
        placeOf('Programmer', 'Analytical Engines', '2020', null),
        placeOf('Tutor', 'Lovelace', '2015', '2020'),
      ],
      education: [
        {
          school: 'University of London',
          degree: 'Master of Business Administration',
          major: 'Mathematics',
          start_date: '2011',
          end_date: '2015',
        },
      ],
      network_distance: 3,
      has_pending_connection_request: false,
      connected_at: null,
    },
    state_revision: 1,
  };
}

const placeOf = (title, company, start_date, end_date) => {
  return { title, company, location: 'London, United Kingdom', start_date, end_date, description: null };
};

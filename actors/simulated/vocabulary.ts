/** The words the simulated network is made of. A word's place in its list is part of its id: append only. */

export const FIRST_NAMES = words(
  'Ada Amara Anna Ben Carla Chen Daniel Diego Elena Emil Fatima Felix Grace Hana Hugo Ines Ivan Jamal Jane Jonas Kai Lara Leo Lin Maria Marta Maya Milan Nadia Noah Olga Omar Paula Priya Quinn Rosa Ravi Sara Sofia Tariq Theo Uma Victor Wanda Yara Yusuf Zoe',
);
export const LAST_NAMES = words(
  'Abbas Alvarez Bauer Becker Brown Castro Chen Costa Dubois Ekström Fischer Garcia Haddad Hansen Ito Jansen Johnson Kaya Keller Kim Kowalski Larsen Lopez Martin Meyer Moreau Nakamura Nguyen Novak Okafor Park Patel Petrov Ricci Rossi Santos Schmidt Sato Silva Singh Smith Torres Usman Vogel Wagner Wang Weber Yilmaz Zhang',
);
export const TITLES = lines(`Software Engineer
Senior Software Engineer
Data Scientist
Product Manager
Engineering Manager
Sales Manager
Account Executive
Marketing Manager
Recruiter
Designer
Financial Analyst
Operations Manager
Nurse
Teacher
Lawyer
Consultant
Project Manager
Founder
Chief Executive Officer
Customer Success Manager`);
export const COMPANIES = lines(`Acme Robotics
Blue Harbor Bank
Cedar Health
Delta Freight
Evergreen Energy
Foxglove Software
Granite Insurance
Harvest Foods
Indigo Media
Juniper Analytics
Kestrel Aerospace
Lumen Education
Meridian Consulting
Northwind Traders
Orchid Pharma
Pioneer Motors
Quartz Semiconductors
Riverbend Hotels
Summit Legal
Tidewater Shipping`);
export const INDUSTRIES = lines(`Software Development
Financial Services
Hospitals and Health Care
Transportation
Renewable Energy
Insurance
Food Production
Media
Education
Business Consulting
Aviation and Aerospace
Retail
Pharmaceuticals
Motor Vehicles
Semiconductors
Hospitality
Legal Services`);
/** Company's industry, by place in its list. */
export const COMPANY_INDUSTRY = [13, 1, 2, 3, 4, 0, 5, 6, 7, 0, 10, 8, 9, 11, 12, 13, 14, 15, 16, 3] as const;
export const LOCATIONS = lines(`Berlin, Germany
London, United Kingdom
New York, United States
San Francisco, United States
Paris, France
Madrid, Spain
Amsterdam, Netherlands
Stockholm, Sweden
Toronto, Canada
São Paulo, Brazil
Singapore
Tokyo, Japan
Sydney, Australia
Lagos, Nigeria
Dubai, United Arab Emirates
Bangalore, India`);
/** Zip code of each location. */
export const ZIP_CODES = words(
  '10115 SW1A 10001 94103 75001 28001 1012 11120 M5H 01310 018956 1000001 2000 100001 00000 560001',
);
export const SCHOOLS = lines(`Technical University of Berlin
University of London
Columbia University
Stanford University
Sorbonne University
University of Amsterdam
University of Toronto
National University of Singapore
University of Tokyo
Indian Institute of Technology`);
export const SKILLS = lines(`TypeScript
Python
SQL
Machine Learning
Project Management
Negotiation
Public Speaking
Accounting
Product Design
Recruiting
Cloud Computing
Customer Service
Data Analysis
Leadership
Marketing Strategy
Patient Care`);
/** With ids from 1, as the taxonomy of functions has them: 8 is engineering. */
export const JOB_FUNCTIONS = lines(`Accounting
Administrative
Arts and Design
Business Development
Community and Social Services
Consulting
Education
Engineering
Entrepreneurship
Finance
Healthcare Services
Human Resources
Information Technology
Legal
Marketing
Media and Communication
Operations
Product Management
Program and Project Management
Sales`);
export const SERVICE_CATEGORIES = lines(`Consulting
Coaching
Design
Software Development
Writing`);
export const LANGUAGES = words('en es zh de fr it pt nl');
export const DEGREES = lines(`Bachelor of Science
Bachelor of Arts
Master of Science
Master of Business Administration
Doctor of Philosophy`);
export const MAJORS = lines(`Computer Science
Economics
Mathematics
Law
Medicine
Design
Mechanical Engineering`);
export const SENTENCES = lines(`Hello, good to hear from you.
Thank you for connecting!
Do you have time for a call next week?
I saw your profile and would like to talk about a project.
That sounds good, Tuesday works for me.
Could you send me the details?
We are hiring an engineer in your region.
Happy to help, just let me know.
Let us catch up at the conference.
Here is the document we spoke about.`);

/** Ids as typeahead gives them: a base a vocabulary, and the place in the list. */
export const ID_BASE = {
  company: 1000,
  job_function: 1,
  industry: 100,
  location: 100_000,
  school: 5000,
  skill: 300,
  job_title: 200,
  service_category: 700,
} as const;

function words(text: string): string[] {
  return text.split(' ');
}

function lines(text: string): string[] {
  return text.split('\n');
}

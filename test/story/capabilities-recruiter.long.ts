import '../fixture/at-length.js';
import './capabilities-recruiter.test.js';

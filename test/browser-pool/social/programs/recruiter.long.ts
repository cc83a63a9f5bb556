import '../../../fixture/at-length.js';
import './recruiter.test.js';

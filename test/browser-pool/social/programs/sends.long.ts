import '../../../fixture/at-length.js';
import './sends.test.js';

import '../../../fixture/at-length.js';
import './stream.test.js';

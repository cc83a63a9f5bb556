import '../../fixture/at-length.js';
import './linear.test.js';

import '../../fixture/at-length.js';
import './fronts.test.js';

import '../../fixture/at-length.js';
import './lists.test.js';

import '../../fixture/at-length.js';
import './greedy.test.js';

import '../fixture/at-length.js';
import './sockets.test.js';

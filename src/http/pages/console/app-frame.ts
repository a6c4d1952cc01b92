// The page in which the console shows an app of an MCP server. Such an app is a page of strangers, so it runs in an origin of its
// own (`sandbox`), and its policy lets nothing in or out but what the server of the app has named. The policy has to be a header:
// an inherited one would be the console's, which allows no inline script. The console gives the frame the app's HTML in a message.

import type { Reply, Request } from '../../route.ts'

/** Takes one text of HTML from the page around it, and becomes it. */
const FRAME = `<!doctype html>
<meta charset="utf-8">
<title>App</title>
<script>
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || typeof data?.html !== 'string') return
    document.open()
    document.write(data.html)
    document.close()
  })
  parent.postMessage({ frame: 'ready' }, '*')
</script>
`

/** `https:` and `wss:` only: an app has no business on this machine or its network. `*.` stands for all names below. */
const DOMAIN = /^(?:https|wss):\/\/(?:\*\.)?[a-z\d-]+(?:\.[a-z\d-]+)+(?::\d{1,5})?$/i
const MOST_DOMAINS = 30

const policyFor = (query: URLSearchParams, frameOrigins: readonly string[]): string => {
  const named = (name: string): string =>
    query
      .getAll(name)
      .filter((domain) => DOMAIN.test(domain))
      .slice(0, MOST_DOMAINS)
      .join(' ')
  const files = named('resource')
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${files}`,
    `style-src 'unsafe-inline' ${files}`,
    `img-src data: blob: ${files}`,
    `media-src data: blob: ${files}`,
    `font-src data: ${files}`,
    `connect-src ${named('connect') || "'none'"}`,
    `frame-src ${named('frame') || "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    'sandbox allow-scripts',
    `frame-ancestors 'self' ${frameOrigins.join(' ')}`,
  ]
    .map((directive) => directive.trim())
    .join('; ')
}

export const answerAppFrame = (request: Request, reply: Reply, frameOrigins: readonly string[]): void =>
  reply.text(200, FRAME, 'text/html; charset=utf-8', {
    'Content-Security-Policy': policyFor(request.query, frameOrigins),
    'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
    'X-DNS-Prefetch-Control': 'off',
  })

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A page of our own, in one piece, and the policy under which nothing else can run on it. */
export interface BuiltInPage {
  html: string
  /** For the header Content-Security-Policy. */
  policy: string
}

/**
 * From the `page.html`, `page.css` and scripts beside the module whose `import.meta.url` this is. The scripts become one, in this
 * order: an import among them stands on one line, and no name is used at the top of two.
 */
export function readBuiltInPage(module: string, scripts: readonly string[] = ['page.js']): BuiltInPage {
  // A browser hashes what it has parsed, in which a line break is always LF.
  const read = (name: string) => readFileSync(new URL(name, module), 'utf8').replaceAll('\r\n', '\n')
  const style = read('page.css')
  const script = scripts.map((name) => withoutModules(read(name))).join('\n')
  const html = read('page.html')
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`)
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return { html, policy: policy.join('; ') }
}

const withoutModules = (script: string): string =>
  script.replaceAll(/^import .* from '\.\/.*'\n/gm, '').replaceAll(/^export (?=function |const )/gm, '')

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

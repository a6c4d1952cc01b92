import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** One of our own pages as a single document, and a policy that lets nothing else run on it. */
interface BuiltInPage {
  html: string
  /** Value of the Content-Security-Policy header. */
  policy: string
}

/**
 * Joins `page.html`, `page.css` and the scripts next to the module. `module` is its `import.meta.url`. The scripts become one script, in
 * the given order. So an import between them must be on one line, and no two may share a top-level name.
 */
export function readBuiltInPage(module: string, scripts: readonly string[] = ['page.js']): BuiltInPage {
  // A browser hashes the parsed text, in which a line break is always LF.
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

import type { MarkedToken, Token } from 'marked'
import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { WarningIcon } from '../icons.ts'
import { ProseText } from '../ProseText.tsx'
import { Box } from './BlockView.tsx'
import { Formula } from './Formula.tsx'
import styles from './Markdown.module.css'
import { isMath } from './math-tokens.ts'

const DEEPEST = 12

export function Inline({ tokens, depth = 0 }: { tokens: readonly Token[]; depth?: number }) {
  return tokens.map((token, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens never change places
    <Fragment key={i}>{drawInline(token as MarkedToken, depth)}</Fragment>
  ))
}

function drawInline(token: MarkedToken, depth: number): ReactNode {
  if (depth > DEEPEST) return <ProseText text={token.raw} />
  if (isMath(token)) return <Formula token={token} />
  const inside = (tokens: readonly Token[]) => <Inline tokens={tokens} depth={depth + 1} />
  switch (token.type) {
    case 'strong':
      return <strong>{inside(token.tokens)}</strong>
    case 'em':
      return <em>{inside(token.tokens)}</em>
    case 'del':
      return <del>{inside(token.tokens)}</del>
    case 'codespan':
      return (
        <code>
          <ProseText text={token.text} />
        </code>
      )
    case 'br':
      return <br />
    case 'checkbox':
      return <Box isChecked={token.checked} />
    case 'link':
      return (
        <Link address={token.autolink ? token.href : withoutReferences(token.href)} text={token.text}>
          {inside(token.tokens)}
        </Link>
      )
    case 'image':
      return (
        <Link address={withoutReferences(token.href)} text="">
          <span className={styles.picture}>
            Picture: <ProseText text={withoutReferences(token.text) || 'no description'} />
          </span>
        </Link>
      )
    case 'text':
      if (token.tokens !== undefined) return inside(token.tokens)
      return <Words text={withoutReferences(token.text)} />
    case 'escape':
      return token.text
    default:
      // HTML is text here.
      return <ProseText text={token.raw} />
  }
}

export const plainWords = (text: string): ReactNode => <ProseText text={text} />

/** How words are drawn. Not those in code. */
export const WordsContext = createContext(plainWords)

const Words = ({ text }: { text: string }) => useContext(WordsContext)(text)

/** The text, and beside it where one would go. Only the address is a link, so that nobody is led elsewhere by a text. */
function Link({ address, text, children }: { address: string; text: string; children: ReactNode }) {
  const target = linkTarget(address)
  if (target === null) {
    return (
      <>
        {children}{' '}
        <bdi className={styles.noLink}>
          (<ProseText text={address} />)
        </bdi>
      </>
    )
  }
  const relation = compareLinkText(text, target)
  const anchor = (shown: string) => (
    <a href={target.href} target="_blank" rel="noopener noreferrer" title={target.href} dir="ltr">
      {shown}
    </a>
  )
  if (relation === 'same') return anchor(target.shown)
  return (
    <>
      <bdi>{children}</bdi>{' '}
      <span className={styles.address}>
        {relation === 'elsewhere' && (
          <span className={styles.elsewhere}>
            <WarningIcon aria-hidden="true" /> leads elsewhere:{' '}
          </span>
        )}
        {anchor(target.shown)}
      </span>
    </>
  )
}

const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    hellip: '…',
    mdash: '—',
    ndash: '–',
    rarr: '→',
    larr: '←',
    times: '×',
    middot: '·',
    copy: '©',
    bull: '•',
    deg: '°',
    euro: '€',
  }),
)

/** `&lt;` and the like, as models write them. Other names stay as they are. The lexer has done the numbers. */
const withoutReferences = (text: string): string =>
  text.includes('&') ? text.replace(/&([a-z]{2,6});/g, (found, name: string) => named.get(name) ?? found) : text

/** Where a link leads, if it may lead there at all. */
interface LinkTarget {
  href: string
  /** The address as people read it: whole, or cut with `…` after its host. */
  shown: string
  host: string
}

const ALLOWED: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:'])
const LONGEST_SHOWN = 60

/**
 * Null: this is not an address that a person should be sent to. Scripts, files and addresses of this server are out, and so is
 * `https://bank.com@evil.com`, which reads like another one. The browser writes foreign letters in a host as `xn--…`.
 */
export function linkTarget(address: string): LinkTarget | null {
  const url = URL.parse(address.trim())
  if (url === null || !ALLOWED.has(url.protocol) || url.username !== '' || url.password !== '') return null
  if (url.protocol === 'mailto:') return { href: url.href, host: '', shown: short(url.pathname, '') }
  const scheme = url.protocol === 'https:' ? '' : 'http://'
  const path = `${url.pathname}${url.search}${url.hash}`
  return { href: url.href, host: url.host, shown: short(scheme + url.host, path === '/' ? '' : path) }
}

/** The host is never cut: it is what one looks at. */
function short(host: string, path: string): string {
  const longest = Math.max(12, LONGEST_SHOWN - host.length)
  return host + (path.length <= longest ? path : `${path.slice(0, longest - 1)}…`)
}

const LIKE_AN_ADDRESS = /^(?:https?:\/\/)?(?:www\.)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[:/?#]|$)/iu

/** How the text of a link stands to its address: it says the same, something else (`docs`), or it names another place (a trap). */
export function compareLinkText(text: string, target: LinkTarget): 'same' | 'words' | 'elsewhere' {
  const plain = text.trim()
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '')
  if (bare(plain) === bare(target.href)) return 'same'
  const named = LIKE_AN_ADDRESS.exec(plain)?.[1]?.toLowerCase()
  if (named === undefined) return 'words'
  return named === target.host.replace(/^www\./, '').replace(/:\d+$/, '') ? 'words' : 'elsewhere'
}

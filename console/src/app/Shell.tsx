import { lazy, type ReactNode, Suspense, useLayoutEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { siteStorage } from '../browser-storage.ts'
import { useWaiting } from '../data/waiting.ts'
import { Announcer } from '../parts/Announcer.tsx'
import { MoreIcon, RailIcon, SearchIcon } from '../parts/icons.ts'
import { lazyPart, Nothing } from '../parts/lazy-part.tsx'
import { BY_PROXY, currentToken, signOut } from '../sign-in/device-token.ts'
import { Connection } from './Connection.tsx'
import { keyText, useKeys } from './Keys.tsx'
import { PageBoundary } from './PageBoundary.tsx'
import { type PageEntry, pages } from './pages.ts'
import styles from './Shell.module.css'
import { flipTheme } from './theme.ts'

const NARROW = 'quarterdeck.narrow-rail'
// It says who is signed in, and waits for the server to say so.
const Account = lazyPart(() => import('./Account.tsx'), Nothing)
const Palette = lazy(() => import('./Palette.tsx'))
const KeysHelp = lazy(() => import('./KeysHelp.tsx'))
const More = lazy(() => import('./More.tsx'))

/** What was typed for the palette before it was there. */
const typed = { text: '' }

type Overlay = 'palette' | 'help' | 'more' | null

/** What stands around every page: the navigation, the connection, and what can be opened from anywhere. */
export function Shell({ isSettled, children }: { isSettled: boolean; children: ReactNode }) {
  const [, go] = useLocation()
  const [overlay, setOverlay] = useState<Overlay>(null)
  const close = () => setOverlay(null)
  const [isNarrow, setNarrow] = useState(() => siteStorage.getItem(NARROW) !== null)
  function flipRail(): void {
    if (isNarrow) siteStorage.removeItem(NARROW)
    else siteStorage.setItem(NARROW, '1')
    setNarrow(!isNarrow)
  }
  useKeys([
    {
      keys: 'mod+k',
      name: 'Find',
      group: 'Everywhere',
      run: () => setOverlay('palette'),
      isGlobal: true,
    },
    { keys: '?', name: 'All keys', group: 'Everywhere', run: () => setOverlay('help') },
    { keys: 'b', name: 'Show or hide names', group: 'Everywhere', run: flipRail },
    { keys: 't', name: 'Light or dark', group: 'Everywhere', run: flipTheme },
    // Who signed in at a proxy signs out there.
    ...(currentToken() === BY_PROXY
      ? []
      : [{ keys: '', name: 'Sign out', group: 'Everywhere', run: () => void signOut('asked') }]),
    ...pages.map(({ name, key, path }) => ({
      keys: `g ${key}`,
      name: `Go to ${name}`,
      group: 'Go to',
      run: () => go(path),
    })),
  ])
  return (
    <div className={styles.shell} data-narrow={isNarrow || undefined}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <nav className={styles.rail} aria-label="Pages">
        <Link href="/" className={styles.brand} title={isNarrow ? 'Quarterdeck' : undefined}>
          <Mark />
          <span className={styles.name}>Quarterdeck</span>
        </Link>
        <ul className={styles.links}>
          {pages.map((page) => (
            <li key={page.path}>
              <PageLink page={page} isNarrow={isNarrow} />
            </li>
          ))}
        </ul>
        <button
          type="button"
          className={styles.find}
          title={`Find (${keyText('mod+k')})`}
          onClick={() => setOverlay('palette')}
        >
          <SearchIcon aria-hidden="true" />
          <span className={styles.name}>Find</span> <kbd className={styles.name}>{keyText('mod+k')}</kbd>
        </button>
        <div className={styles.account}>
          <Suspense>{isSettled && <Account />}</Suspense>
        </div>
        <button
          type="button"
          className={styles.link}
          aria-expanded={!isNarrow}
          title={isNarrow ? 'Show names' : undefined}
          onClick={flipRail}
        >
          <RailIcon aria-hidden="true" />
          <span className={styles.name}>{isNarrow ? 'Show names' : 'Hide names'}</span>
        </button>
      </nav>
      <div className={styles.middle}>
        <Connection />
        <PageBoundary at={overlay ?? ''}>
          <Suspense fallback={overlay === 'palette' && <TypeAhead />}>
            {overlay === 'palette' && <Palette typed={typed} onClose={close} />}
            {overlay === 'help' && <KeysHelp onClose={close} />}
            {overlay === 'more' && <More onClose={close} />}
          </Suspense>
        </PageBoundary>
        <main id="main" className={styles.main} tabIndex={-1}>
          {children}
        </main>
      </div>
      <nav className={styles.tabs} aria-label="Main pages">
        {pages
          .filter(({ isMain }) => isMain)
          .map((page) => (
            <PageLink key={page.path} page={page} />
          ))}
        <button type="button" className={styles.link} onClick={() => setOverlay('more')}>
          <MoreIcon />
          <span>More</span>
        </button>
      </nav>
      <Announcer />
    </div>
  )
}

function PageLink({ page: { name, path, icon: Icon }, isNarrow = false }: { page: PageEntry; isNarrow?: boolean }) {
  const [here] = useLocation()
  const waiting = useWaiting()
  const isHere = here === path || here.startsWith(`${path}/`)
  return (
    <Link
      href={path}
      className={styles.link}
      aria-current={isHere ? 'page' : undefined}
      title={isNarrow ? name : undefined}
    >
      <Icon />
      <span className={styles.name}>{name}</span>
      {path === '/inbox' && waiting > 0 && (
        <span className={styles.count}>
          <span className="unseen">, </span>
          {waiting}
          <span className="unseen"> waiting</span>
        </span>
      )}
    </Link>
  )
}

/** A ship's wheel. */
function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={styles.mark}>
      <g fill="none" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round">
        <circle cx="16" cy="16" r="7" />
        <path d="M16 3v6M16 23v6M3 16h6M23 16h6M6.8 6.8 11 11M21 21l4.2 4.2M6.8 25.2 11 21M21 11l4.2-4.2" />
      </g>
      <circle cx="16" cy="16" r="2" fill="currentColor" />
    </svg>
  )
}

/** Who asks for the palette types at once. Until it is there, the page below must not take the letters for its own keys. */
function TypeAhead() {
  useLayoutEffect(() => {
    function keep(event: KeyboardEvent): void {
      if (event.key.length > 1 || event.ctrlKey || event.metaKey) return
      typed.text += event.key
      event.preventDefault()
      event.stopPropagation()
    }
    addEventListener('keydown', keep, true)
    return () => removeEventListener('keydown', keep, true)
  }, [])
  return null
}

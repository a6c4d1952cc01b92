import { useContext, useEffect, useRef, useState } from 'react'
import { serverUrl } from '../../base.ts'
import { useClient } from '../../data/server.tsx'
import type { ActivityItem } from '../../data/transcript.ts'
import { errorText } from '../../error-text.ts'
import { Button } from '../Button.tsx'
import { Dialog } from '../Dialog.tsx'
import { Loading } from '../States.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './ActivityLine.module.css'
import { createAppHost, readAppPage } from './app-host.ts'
import { ConversationContext, SuggestContext } from './conversation.ts'

type Page = NonNullable<ReturnType<typeof readAppPage>>
type Asked = { url: string; answer: (isOpened: boolean) => void }

/** An app of an MCP server: a page of strangers, in a frame that can reach nothing of this page. */
export default function AppView({ item }: { item: ActivityItem }) {
  const { sessionId } = useContext(ConversationContext)
  const suggest = useContext(SuggestContext)
  const client = useClient()
  const [page, setPage] = useState<Page | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const { resourceUri, serverHash, server, toolInput, result } = item.content
  const app = String(serverHash)

  useEffect(() => {
    if (sessionId === null) return
    const gone = new AbortController()
    client.sessions
      .app(sessionId, { app, method: 'resources/read', params: { uri: String(resourceUri) } }, { signal: gone.signal })
      .then((read) => {
        const found = readAppPage(read.result, `${serverUrl}/console/app-frame`)
        if (found === null) setProblem('The MCP server gave no page for it.')
        else setPage(found)
      })
      .catch((error: unknown) => gone.signal.aborted || setProblem(errorText(error)))
    return () => gone.abort()
  }, [client, sessionId, app, resourceUri])

  const name = String(server)
  return (
    <figure className={styles.app} data-border={page?.hasBorder ?? true}>
      <figcaption className={styles.appName}>
        App of <VisibleText text={name} inline isRaw />
      </figcaption>
      {problem !== null && <p className={styles.problem}>The app is not shown. {problem}</p>}
      {problem === null && page === null && <Loading rows={1} height={100} />}
      {problem === null && page !== null && (
        <Frame
          page={page}
          title={`App of ${name}`}
          toolInput={toolInput}
          result={result}
          suggest={suggest}
          ask={async (method, params) => (await client.sessions.app(sessionId ?? '', { app, method, params })).result}
          onStop={setProblem}
        />
      )}
    </figure>
  )
}

interface FrameProps {
  page: Page
  title: string
  toolInput: unknown
  result: unknown
  suggest: ((text: string) => void) | null
  ask: Parameters<typeof createAppHost>[0]['ask']
  onStop: (why: string) => void
}

function Frame(props: FrameProps) {
  const { page, title } = props
  const frame = useRef<HTMLIFrameElement>(null)
  const latest = useRef(props)
  latest.current = props
  const [height, setHeight] = useState(100)
  const [asked, setAsked] = useState<Asked | null>(null)

  useEffect(() => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'
    // An app in a sandbox has no origin that could be named.
    const send = (message: object) => frame.current?.contentWindow?.postMessage(message, '*')
    const host = createAppHost({
      send,
      ask: (method, params) => latest.current.ask(method, params),
      // One question at a time: a person cannot be buried in them.
      openLink: (url) =>
        new Promise((resolve) => {
          setAsked((open) => {
            if (open !== null) resolve(false)
            return open ?? { url, answer: resolve }
          })
        }),
      suggest: latest.current.suggest === null ? null : (text) => latest.current.suggest?.(text),
      setHeight,
      stop: (why) => latest.current.onStop(why),
      toolInput: latest.current.toolInput,
      result: latest.current.result,
      theme,
      now: () => performance.now(),
    })
    let isGiven = false
    function hear({ source, data }: MessageEvent): void {
      if (source === null || source !== frame.current?.contentWindow) return
      if (data?.frame !== 'ready') host(data)
      // A second time: the app has left its page for an empty frame, which may have another policy. It gets nothing there.
      else if (isGiven) latest.current.onStop('It left its page.')
      else {
        isGiven = true
        send({ html: latest.current.page.html })
      }
    }
    window.addEventListener('message', hear)
    return () => window.removeEventListener('message', hear)
  }, [])

  function answer(isOpened: boolean): void {
    if (asked === null) return
    if (isOpened) window.open(asked.url, '_blank', 'noopener,noreferrer')
    asked.answer(isOpened)
    setAsked(null)
  }
  return (
    <>
      <iframe
        ref={frame}
        title={title}
        className={styles.frame}
        style={{ height }}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        src={page.src}
      />
      {asked !== null && (
        <Dialog
          title="Open this address?"
          onClose={() => answer(false)}
          actions={
            <>
              <Button onClick={() => answer(false)}>Do not open</Button>
              <Button kind="primary" onClick={() => answer(true)}>
                Open
              </Button>
            </>
          }
        >
          <p>The app wants to open a page in a new tab:</p>
          <p className={styles.address}>
            <VisibleText text={asked.url} inline isRaw />
          </p>
        </Dialog>
      )}
    </>
  )
}

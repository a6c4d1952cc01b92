import type { Agent } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../../parts/Button.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { CutText } from '../../parts/CutText.tsx'
import { FileIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { Empty, Loading } from '../../parts/States.tsx'
import styles from './AgentFile.module.css'

// It is as large as all the rest of a page.
const YamlView = lazy(() => import('./YamlView.tsx'))

/** The file of an agent as it was written, to read. */
export function AgentFile({ source }: { source: Agent['source'] }) {
  const [, go] = useLocation()
  const [hasColours, setColours] = useState(false)
  if (source === null) {
    return (
      <Empty title="No file" icon={<FileIcon />}>
        This agent was made by a program, or you may not read its file.
      </Empty>
    )
  }
  return (
    <>
      <Panel
        title={
          <bdi className={styles.path} dir="ltr">
            {source.path}
          </bdi>
        }
        actions={
          <span className={styles.actions}>
            {!hasColours && <Button onClick={() => setColours(true)}>Colours and line numbers</Button>}
            <Button onClick={() => go('/agents?tab=check', { state: { text: source.text } })}>
              Check a changed copy
            </Button>
            <CopyButton text={source.text} what="file" />
          </span>
        }
        isFlush
      >
        {hasColours ? (
          <Suspense fallback={<Loading rows={1} height={320} />}>
            <YamlView text={source.text} label={`File ${source.path}`} />
          </Suspense>
        ) : (
          <div className={styles.text}>
            <CutText text={source.text} first={100_000} isCode />
          </div>
        )}
      </Panel>
      <p className={styles.note}>
        As the server read it. Variables stay as they are written, and secrets are masked. The console changes no files:
        edit it where it is, and start the server again.
      </p>
    </>
  )
}

import type { Agent } from 'quarterdeck/client'
import { useLocation } from 'wouter'
import { Button } from '../../parts/Button.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { FileIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import styles from './AgentFile.module.css'
import { YamlView } from './YamlView.tsx'

/** The file of an agent as it was written, to read. */
export default function AgentFile({ source }: { source: Agent['source'] }) {
  const [, go] = useLocation()
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
            <Button onClick={() => go('/agents?tab=check', { state: { text: source.text } })}>
              Check a changed copy
            </Button>
            <CopyButton text={source.text} what="file" />
          </span>
        }
        isFlush
      >
        <YamlView text={source.text} label={`File ${source.path}`} />
      </Panel>
      <p className={styles.note}>
        As the server read it. Variables stay as they are written, and secrets are masked. The console changes no files:
        edit it where it is, and start the server again.
      </p>
    </>
  )
}

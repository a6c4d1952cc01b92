import { useMutation } from '@tanstack/react-query'
import type { AcceptedPolicy, PolicyDraft, PolicyReplay } from 'quarterdeck/client'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Notice, Warnings } from '../../parts/approval/Notice.tsx'
import { ErrorNotice } from '../../parts/approval/Problem.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/CopyText.tsx'
import { Options, Select, TextArea } from '../../parts/Field.tsx'
import { Panel } from '../../parts/Page.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { counted } from '../../words.ts'
import styles from './DraftPolicy.module.css'
import { NameField } from './TryPolicy.tsx'
import { useSupervised } from './use-agents.ts'

const ages = [
  ['24h', 'Last day'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const

/** Proposes a policy from what people decided about the agents of a workspace. A person edits it, tries it on the past, and accepts it. */
export default function DraftPolicy() {
  const client = useClient()
  const isLive = useIsLive()
  const [params] = useSearchParams()
  const { data: sessions = [] } = useSupervised()
  const workspaces = [...new Set(sessions.flatMap(({ supervision }) => supervision?.workspace_root ?? []))]
  const [workspace, setWorkspace] = useState(params.get('workspace') ?? '')
  const [since, setSince] = useState('7d')
  const draft = useMutation({ mutationFn: () => client.draftPolicy({ workspace: workspace.trim(), since }) })
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isLive && !draft.isPending && workspace.trim() !== '') draft.mutate()
  }
  return (
    <div className={styles.draft}>
      <form className={styles.form} onSubmit={submit}>
        <p className={styles.about}>
          A policy from what people allowed at least three times and never refused. Nothing of it counts before somebody
          accepts it.
        </p>
        <NameField
          names={workspaces}
          label="Path of the workspace"
          spellCheck={false}
          placeholder="/home/ada/shop"
          value={workspace}
          onChange={({ target }) => setWorkspace(target.value)}
        />
        <Select label="From" value={since} onChange={({ target }) => setSince(target.value)}>
          <Options of={ages} />
        </Select>
        <Button type="submit" disabled={!isLive || workspace.trim() === ''} isBusy={draft.isPending}>
          Draft
        </Button>
      </form>
      <ErrorNotice error={draft.error} />
      {draft.data !== undefined && <Drafted key={draft.submittedAt} draft={draft.data} since={since} />}
    </div>
  )
}

function Drafted({ draft, since }: { draft: PolicyDraft; since: string }) {
  const client = useClient()
  const isLive = useIsLive()
  const { workspace, base_sha256 } = draft
  const [text, setText] = useState(draft.text)
  /** The text that was tried last. What is accepted has been tried. */
  const [tried, setTried] = useState(draft.text)
  const replay = useMutation({
    mutationFn: (value: string) => client.replayPolicy({ workspace, since, text: value }),
    onSuccess: (_, value) => setTried(value),
  })
  const accept = useMutation({ mutationFn: () => client.acceptPolicy({ workspace, text, base_sha256 }) })
  const isTried = text === tried
  return (
    <>
      <Panel title="The policy">
        <div className={styles.text}>
          <TextArea
            label="Text of .quarterdeck/policy.json"
            spellCheck={false}
            autoCapitalize="off"
            value={text}
            readOnly={accept.isSuccess}
            onChange={({ target }) => setText(target.value)}
          />
          {isTried && <Replayed replay={replay.data ?? draft.replay} />}
          <ErrorNotice error={replay.error ?? accept.error} />
          {accept.data === undefined ? (
            <div className={styles.actions}>
              <Button disabled={isTried || !isLive} isBusy={replay.isPending} onClick={() => replay.mutate(text)}>
                Try the text
              </Button>
              <Button
                kind="primary"
                disabled={!isTried || !isLive}
                isBusy={accept.isPending}
                onClick={() => accept.mutate()}
              >
                Accept for {workspace}
              </Button>
            </div>
          ) : (
            <Accepted done={accept.data} />
          )}
        </div>
      </Panel>
      <Counted title="What each line rests on" none="Nothing was allowed often enough for a line." of={draft.lines} />
      <Counted title="What it leaves open" none="Nothing that people decided." of={draft.open} more={draft.more_open} />
      {draft.commands.length > 0 && (
        <Panel title="For quarterdeck.yaml">
          <p className={styles.about}>
            A policy covers only commands of the server. With these lines and a restart, the next draft covers more.
          </p>
          <CopyText text={['commands:', ...draft.commands].join('\n')} what="lines" />
        </Panel>
      )}
    </>
  )
}

function Replayed({ replay: { requests, is_cut, asked, would_ask, against } }: { replay: PolicyReplay }) {
  return (
    <div aria-live="polite" className={styles.text}>
      <p>
        People would have been asked <strong>{would_ask}</strong> instead of {counted(asked, 'time')}, of{' '}
        {counted(requests, 'request')}
        {is_cut && ' (there were more)'}.
      </p>
      <Warnings texts={against.map((one) => `A person refused this, and the text lets it pass: ${one}`)} />
    </div>
  )
}

const Accepted = ({ done: { status, file, approval_id } }: { done: AcceptedPolicy }) => (
  <div role="status">
    <Notice tone={status === 'accepted' ? 'good' : 'warn'}>
      {status === 'accepted' ? (
        <p>{file} is written, and counts from now on.</p>
      ) : (
        <p>
          {file} is written, and allows nothing yet: <Link href={`/inbox/${approval_id}`}>its approval waits</Link>.
        </p>
      )}
    </Notice>
  </div>
)

type CountedLine = PolicyDraft['lines'][number] | PolicyDraft['open'][number]

function Counted({
  title,
  none,
  of,
  more = 0,
}: {
  title: string
  none: string
  of: readonly CountedLine[]
  more?: number
}) {
  return (
    <Panel title={title} isFlush={of.length > 0}>
      {of.length === 0 && none}
      <ul className={styles.list}>
        {of.map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
          <li key={i}>
            <code>
              <VisibleText text={'rule' in line ? line.rule : line.what} inline />
            </code>
            {'rule' in line && line.is_kept && <Badge>As before</Badge>}
            <p className={styles.about}>
              Allowed {counted(line.allowed, 'time')}, refused {line.refused}
              {line.by.length > 0 && ` (${line.by.join(', ')})`}.{' '}
              <VisibleText text={'rule' in line ? line.examples.join(' · ') : line.why} inline />
            </p>
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </Panel>
  )
}

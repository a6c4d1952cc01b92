import { useMutation } from '@tanstack/react-query'
import type { AcceptedPolicy, PolicyDraft } from 'quarterdeck/client'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Notice, Warnings } from '../../parts/approval/Notice.tsx'
import { ErrorNotice } from '../../parts/approval/Problem.tsx'
import { Button } from '../../parts/Button.tsx'
import { Options, Select, TextArea } from '../../parts/Field.tsx'
import { Panel } from '../../parts/Page.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { counted } from '../../words.ts'
import styles from './CheckFile.module.css'
import { WorkspaceField } from './TryPolicy.tsx'

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
  const [workspace, setWorkspace] = useState(params.get('workspace') ?? '')
  const [since, setSince] = useState('7d')
  const draft = useMutation({ mutationFn: () => client.draftPolicy({ workspace: workspace.trim(), since }) })
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isLive && !draft.isPending && workspace.trim() !== '') draft.mutate()
  }
  return (
    <div className={styles.check}>
      <form className={styles.check} onSubmit={submit}>
        <p className={styles.about}>
          A policy from what people allowed at least three times and never refused. Nothing of it counts before somebody
          accepts it.
        </p>
        <WorkspaceField value={workspace} onChange={setWorkspace} />
        <Select label="From" value={since} onChange={({ target }) => setSince(target.value)}>
          <Options of={ages} />
        </Select>
        <div className={styles.actions}>
          <Button type="submit" disabled={!isLive || workspace.trim() === ''} isBusy={draft.isPending}>
            Draft
          </Button>
        </div>
      </form>
      <ErrorNotice error={draft.error} />
      {draft.data !== undefined && <Drafted key={draft.submittedAt} first={draft.data} since={since} />}
    </div>
  )
}

function Drafted({ first, since }: { first: PolicyDraft; since: string }) {
  const client = useClient()
  const isLive = useIsLive()
  const { workspace, base_sha256 } = first
  const [text, setText] = useState(first.text)
  const edited = useMutation({ mutationFn: () => client.draftPolicy({ workspace, since, text }) })
  const accept = useMutation({ mutationFn: () => client.acceptPolicy({ workspace, text, base_sha256 }) })
  const draft = edited.data ?? first
  // What is accepted has been tried.
  const isTried = text === draft.text
  return (
    <>
      <div className={styles.area}>
        <TextArea
          label="Text of .quarterdeck/policy.json"
          spellCheck={false}
          autoCapitalize="off"
          value={text}
          readOnly={accept.isSuccess}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {isTried && <Replayed {...draft} />}
      <ErrorNotice error={edited.error ?? accept.error} />
      {accept.data !== undefined && <Accepted {...accept.data} />}
      <div className={styles.actions}>
        <Button disabled={isTried || !isLive} isBusy={edited.isPending} onClick={() => edited.mutate()}>
          Try the text
        </Button>
        <Button
          kind="primary"
          disabled={!isTried || !isLive || accept.isSuccess}
          isBusy={accept.isPending}
          onClick={() => accept.mutate()}
        >
          Accept
        </Button>
      </div>
      <Counted title="What each line rests on" of={draft.lines} />
      <Counted title={draft.more > 0 ? `Left open, and ${draft.more} more` : 'Left open'} of={draft.open} />
      {draft.commands.length > 0 && (
        <Panel title="For quarterdeck.yaml">
          <p className={styles.about}>
            A policy covers only commands that quarterdeck.yaml lists. With these lines and a restart, the next draft
            covers more.
          </p>
          <pre>{['commands:', ...draft.commands].join('\n')}</pre>
        </Panel>
      )}
    </>
  )
}

const Replayed = ({ replay: { requests, cut, asked, left, against } }: PolicyDraft) => (
  <div role="status">
    <p>
      Of {counted(requests, 'request')}
      {cut && ' (there were older ones)'}, people were asked about {asked}. With this text it would have been{' '}
      <strong>{left}</strong>.
    </p>
    <Warnings texts={against.map((one) => `A person refused this, and the text lets it pass: ${one}`)} />
  </div>
)

const Accepted = ({ file, approval_id: waits }: AcceptedPolicy) => (
  <div role="status">
    <Notice tone={waits === null ? 'good' : 'warn'}>
      {file} is written, and {waits === null ? 'counts from now on.' : 'allows nothing yet: '}
      {waits !== null && <Link href={`/inbox/${waits}`}>its approval waits.</Link>}
    </Notice>
  </div>
)

function Counted({ title, of }: { title: string; of: PolicyDraft['open'] }) {
  return (
    <Panel title={title}>
      {of.length === 0 && 'Nothing.'}
      <ul>
        {of.map(({ what, why, allowed, refused, by }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
          <li key={i}>
            <code>
              <VisibleText text={what} inline />
            </code>
            <p className={styles.about}>
              Allowed {counted(allowed, 'time')}, refused {refused}
              {by.length > 0 && `, by ${by.join(', ')}`}. <VisibleText text={why} inline />
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

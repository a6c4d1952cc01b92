import { useMutation, useQuery } from '@tanstack/react-query'
import type { Session, Startable } from 'quarterdeck/client'
import { useId, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/CopyText.tsx'
import { FormDialog } from '../../parts/Dialog.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { Failed } from '../../parts/States.tsx'
import { folderName } from '../../words.ts'
import styles from './StartAgentDialog.module.css'

/** How many of the newest sessions are looked at for folders, and how many folders are offered as buttons. */
const RECENT = 50
const MOST_OFFERED = 6

/** Starts a coding agent in a folder of the server's machine. What it may do there is decided by people, in the inbox. */
export default function StartAgentDialog({
  onClose,
  onStarted,
}: {
  onClose: () => void
  onStarted: (id: string) => void
}) {
  const client = useClient()
  const isLive = useIsLive()
  const [prompt, setPrompt] = useState('')
  const [workspace, setWorkspace] = useState('')
  const [title, setTitle] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const start = useMutation({
    mutationFn: () =>
      client.sessions.start({
        prompt: prompt.trim(),
        workspace: workspace.trim(),
        ...given({ title: title.trim(), host: host ?? '' }),
      }),
    onSuccess: ({ session_id }) => {
      onClose()
      onStarted(session_id)
    },
  })
  const known = useQuery({ queryKey: ['hosts'], queryFn: ({ signal }) => client.sessions.startable({ signal }) })
  const recent = useQuery({
    queryKey: ['recent-folders'],
    queryFn: ({ signal }) => client.sessions.list({ kind: 'supervised', limit: RECENT, signal }),
  })
  const ready = known.data?.hosts.filter(({ problem }) => problem === null) ?? []
  const host = chosen ?? ready[0]?.name ?? null
  const folders = knownFolders(known.data, recent.data?.sessions ?? [])
  const folderList = useId()
  const canStart = known.data === undefined || host !== null
  const isReady = prompt.trim() !== '' && workspace.trim() !== '' && isLive && canStart
  return (
    <FormDialog
      title="Start a coding agent"
      verb="Start"
      isReady={isReady}
      isBusy={start.isPending}
      onSend={() => start.mutate()}
      onClose={onClose}
      problem={start.error !== null && <Failed error={start.error} />}
    >
      <TextArea
        label="What it should do"
        value={prompt}
        rows={5}
        maxLength={10_000}
        required
        autoFocus
        onChange={(event) => setPrompt(event.target.value)}
      />
      <TextField
        label="Folder"
        help={folderHelp(known.data)}
        placeholder="/home/ada/shop"
        value={workspace}
        required
        spellCheck={false}
        autoCapitalize="off"
        list={folderList}
        onChange={(event) => setWorkspace(event.target.value)}
      />
      <datalist id={folderList}>
        {folders.map(({ path, label }) => (
          <option key={path} value={path} label={label ?? undefined} />
        ))}
      </datalist>
      {folders.length > 0 && (
        <div className={styles.folders}>
          {folders.slice(0, MOST_OFFERED).map(({ path, label }) => (
            <Button key={path} kind="quiet" aria-pressed={workspace === path} onClick={() => setWorkspace(path)}>
              {label ?? shortName(path, folders)}
            </Button>
          ))}
        </div>
      )}
      {known.error !== null && <Failed error={known.error} onRetry={() => void known.refetch()} />}
      {known.data !== undefined && <Programs hosts={known.data.hosts} chosen={host} onChoose={setChosen} />}
      <TextField label="Title" value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
    </FormDialog>
  )
}

interface Folder {
  path: string
  label: string | null
}

/** Those of the settings first, then those where agents have worked. */
export function knownFolders(known: Startable | undefined, sessions: readonly Session[]): Folder[] {
  const all: Folder[] = [
    ...(known?.workspaces ?? []),
    ...sessions.flatMap(({ supervision }) =>
      supervision === undefined ? [] : [{ path: supervision.workspace_root, label: null }],
    ),
  ]
  return all.filter(({ path }, i) => all.findIndex((one) => one.path === path) === i)
}

/** The last part of the path, unless another folder has the same. */
const shortName = (path: string, all: readonly Folder[]): string =>
  all.some((one) => one.path !== path && folderName(one.path) === folderName(path)) ? path : folderName(path)

function folderHelp(known: Startable | undefined): string {
  const where = 'On the machine of the server.'
  if (known === undefined) return where
  if (known.root !== null) return `${where} Any folder below ${known.root}, or one of the workspaces.`
  return known.workspaces.length > 0 ? `${where} One of its workspaces.` : `${where} Any folder with a project.`
}

/** Which agent is started, and what each of the others lacks. */
function Programs({
  hosts,
  chosen,
  onChoose,
}: {
  hosts: Startable['hosts']
  chosen: string | null
  onChoose: (name: string) => void
}) {
  const ready = hosts.filter(({ problem }) => problem === null)
  const others = hosts.filter(({ problem }) => problem !== null)
  return (
    <section className={styles.programs} aria-label="Agent">
      {ready.length === 0 ? (
        <p>No agent can be started yet.</p>
      ) : (
        <div className={styles.folders}>
          {ready.map(({ name, title }) => (
            <Button key={name} kind="quiet" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
              {title}
            </Button>
          ))}
        </div>
      )}
      {others.length > 0 && (
        <details open={ready.length === 0}>
          <summary>{ready.length === 0 ? 'What is missing' : 'Other agents'}</summary>
          <ul>
            {others.map(({ name, title, problem, command }) => (
              <li key={name}>
                <strong>{title}</strong>
                <span>{problem}</span>
                {command !== null && <CopyText text={command} what="command" />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

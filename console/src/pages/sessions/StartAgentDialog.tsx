import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { FormDialog } from '../../parts/Dialog.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { Failed } from '../../parts/States.tsx'

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
  const [host, setHost] = useState('')
  const [title, setTitle] = useState('')
  const start = useMutation({
    mutationFn: () =>
      client.sessions.start({
        prompt: prompt.trim(),
        workspace: workspace.trim(),
        ...given({ host: host.trim(), title: title.trim() }),
      }),
    onSuccess: ({ session_id }) => {
      onClose()
      onStarted(session_id)
    },
  })
  const isReady = prompt.trim() !== '' && workspace.trim() !== '' && isLive
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
        help="On the machine of the server: the path or the id of one of its workspaces."
        placeholder="/home/ada/shop"
        value={workspace}
        required
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => setWorkspace(event.target.value)}
      />
      <TextField
        label="Program"
        help="Left empty: the one that the server is set up to start (host_cli)."
        placeholder="claude-code"
        value={host}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => setHost(event.target.value)}
      />
      <TextField label="Title" value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
    </FormDialog>
  )
}

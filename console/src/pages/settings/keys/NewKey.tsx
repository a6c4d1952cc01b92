import { useQueryClient } from '@tanstack/react-query'
import type { CreatedToken, NewToken, Token } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { given } from '../../../given.ts'
import { Notice } from '../../../parts/approval/Notice.tsx'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { Button } from '../../../parts/Button.tsx'
import { CopyText } from '../../../parts/CopyText.tsx'
import { Dialog, FormDialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { useAction } from '../../../parts/use-action.ts'
import { withProof } from '../../../sign-in/step-up.ts'
import { Choice } from '../Choice.tsx'

type Role = NewToken['role']

export const roleWords: Readonly<Record<Token['role'], { name: string; about: string }>> = {
  user: { name: 'User', about: 'Talks to agents and sees its own sessions.' },
  operator: { name: 'Operator', about: 'Sees everything, decides, and changes settings.' },
  agent: { name: 'Agent', about: 'A coding agent that works in one folder and asks here for approval.' },
}

const roles = (['user', 'operator', 'agent'] as const).map((value) => ({ value, ...roleWords[value] }))

export function NewKey({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<CreatedToken | null>(null)
  return made === null ? <Make onMade={setMade} onClose={onClose} /> : <Made token={made} onClose={onClose} />
}

function Make({ onMade, onClose }: { onMade: (token: CreatedToken) => void; onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [role, setRole] = useState<Role>('user')
  const [name, setName] = useState('')
  const [user, setUser] = useState('')
  const [workspace, setWorkspace] = useState('')
  const { isBusy, error, run } = useAction()
  const isIncomplete = role === 'agent' && workspace.trim() === ''

  function make(): void {
    const wanted: NewToken = {
      role,
      ...given({ name: name.trim(), user: user.trim(), workspace: role === 'agent' ? workspace.trim() : null }),
    }
    void run(async () => {
      const token = await withProof({ kind: 'token' }, (proof) => client.createToken(wanted, proof))
      void queries.invalidateQueries({ queryKey: ['tokens'] })
      onMade(token)
    })
  }
  return (
    <FormDialog
      title="New token"
      verb="Make the token"
      isReady={isLive && !isIncomplete}
      isBusy={isBusy}
      onSend={make}
      onClose={onClose}
      problem={<ErrorNotice error={error} />}
    >
      <TextField
        label="Name"
        help="What it is for, such as CI or Ada’s laptop."
        autoFocus
        maxLength={64}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Choice label="Role" choices={roles} value={role} onChange={setRole} />
      <TextField
        label="User"
        help="Whose sessions it sees and begins. Empty: yours. Only an admin names somebody else."
        maxLength={64}
        pattern="\w*"
        value={user}
        onChange={({ target }) => setUser(target.value)}
      />
      {role === 'agent' && (
        <TextField
          label="Workspace"
          help="The folder on the server’s machine that the agent works in, as an absolute path."
          required
          placeholder="/home/ada/shop"
          spellCheck={false}
          value={workspace}
          onChange={({ target }) => setWorkspace(target.value)}
        />
      )}
    </FormDialog>
  )
}

function Made({ token, onClose }: { token: CreatedToken; onClose: () => void }) {
  return (
    <Dialog title="Copy the token now" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <Notice tone="warn">
        <p>It is not shown again: the server keeps only a fingerprint of it.</p>
      </Notice>
      <CopyText text={token.token} what="token" />
    </Dialog>
  )
}

import { useMutation } from '@tanstack/react-query'
import type { PolicyVerdict, TriedPolicy } from 'quarterdeck/client'
import { type ComponentProps, type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Select, TextArea, TextField } from '../../parts/Field.tsx'
import { PolicyIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { Failed } from '../../parts/States.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './TryPolicy.module.css'
import { useSupervised } from './use-agents.ts'

const toolNames = ['Bash', 'Write', 'Edit', 'Read', 'WebFetch']

/** Asks the policy of a workspace what it would say about a request of a coding agent. Nothing is granted, and nobody is asked. */
export default function TryPolicy() {
  const client = useClient()
  const isLive = useIsLive()
  const [params] = useSearchParams()
  const [form, setForm] = useState<PolicyForm>({
    place: params.get('session') === null ? 'workspace' : 'session',
    workspace: params.get('workspace') ?? '',
    session: params.get('session') ?? '',
    tool: 'Bash',
    path: '',
    command: '',
    risk: 'low',
  })
  const tried = useMutation({ mutationFn: (request: TriedPolicy) => client.tryPolicy(request) })
  const answer = useRef<HTMLDivElement>(null)
  const { data: verdict, error } = tried
  useEffect(() => {
    // On a phone it stands below the form.
    if (verdict !== undefined || error !== null) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [verdict, error])
  const set = (change: Partial<PolicyForm>) => setForm({ ...form, ...change })
  const request = policyRequest(form)
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (request !== null && isLive && !tried.isPending) tried.mutate(request)
  }
  return (
    <div className={styles.try}>
      <form className={styles.form} onSubmit={submit}>
        <p className={styles.about}>
          What would the policy of a workspace say about a request of a coding agent? It is the same judge that decides
          about real requests. It grants nothing and asks nobody.
        </p>
        <Place form={form} set={set} />
        <NameField
          names={toolNames}
          label="Tool"
          value={form.tool}
          onChange={({ target }) => set({ tool: target.value })}
        />
        <TextField
          label="File"
          help="Absolute, or from the root of the workspace. Leave it empty if the request has none."
          spellCheck={false}
          value={form.path}
          onChange={({ target }) => set({ path: target.value })}
        />
        <TextArea
          label="Command"
          help="Of a shell tool."
          spellCheck={false}
          rows={2}
          value={form.command}
          onChange={({ target }) => set({ command: target.value })}
        />
        <Select
          label="Risk"
          value={form.risk}
          onChange={({ target }) => set({ risk: target.value as PolicyForm['risk'] })}
        >
          <option value="low">Low risk</option>
          <option value="high">High risk</option>
          <option value="critical">Critical</option>
        </Select>
        <div className={styles.actions}>
          <Button
            kind="primary"
            type="submit"
            icon={<PolicyIcon />}
            disabled={request === null || !isLive}
            isBusy={tried.isPending}
          >
            Try
          </Button>
        </div>
      </form>
      <div ref={answer} aria-live="polite">
        {error !== null && <Failed error={error} />}
        {verdict !== undefined && <Verdict verdict={verdict} />}
      </div>
    </div>
  )
}

/** Where the request would come from. */
function Place({ form, set }: { form: PolicyForm; set: (change: Partial<PolicyForm>) => void }) {
  const { data: sessions = [] } = useSupervised()
  return (
    <div className={styles.place}>
      <Select
        label="Where"
        value={form.place}
        onChange={({ target }) => set({ place: target.value === 'session' ? 'session' : 'workspace' })}
      >
        <option value="workspace">Workspace</option>
        <option value="session">Session</option>
      </Select>
      {form.place === 'workspace' ? (
        <WorkspaceField value={form.workspace} onChange={(workspace) => set({ workspace })} />
      ) : (
        <NameField
          names={sessions.map((session) => session.session_id)}
          label="Id of the session"
          spellCheck={false}
          value={form.session}
          onChange={({ target }) => set({ session: target.value })}
        />
      )}
    </div>
  )
}

export function WorkspaceField({ value, onChange }: { value: string; onChange: (path: string) => void }) {
  const { data: sessions = [] } = useSupervised()
  return (
    <NameField
      names={[...new Set(sessions.flatMap(({ supervision }) => supervision?.workspace_root ?? []))]}
      label="Path of the workspace"
      spellCheck={false}
      placeholder="/home/ada/shop"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

/** A field with names to choose from. */
function NameField({ names, ...field }: ComponentProps<typeof TextField> & { names: readonly string[] }) {
  const id = useId()
  return (
    <div>
      <TextField {...field} list={id} required />
      <datalist id={id}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  )
}

function Verdict({ verdict: { auto_approved, matched_rule, why } }: { verdict: PolicyVerdict }) {
  return (
    <Panel
      title={
        <span className={styles.verdict}>
          {auto_approved ? <Badge tone="good">Allowed</Badge> : <Badge tone="warn">A person is asked</Badge>}
        </span>
      }
    >
      <div className={styles.why}>
        {matched_rule !== null && (
          <p>
            Rule: <code>{matched_rule}</code>
          </p>
        )}
        <ul>
          {why.map((reason) => (
            <li key={reason}>
              <VisibleText text={reason} />
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}

export interface PolicyForm {
  place: 'workspace' | 'session'
  workspace: string
  session: string
  tool: string
  path: string
  command: string
  risk: 'low' | 'high' | 'critical'
}

/** What the server is asked. Null: something is missing. A command keeps its spaces: a policy may look at them. */
export function policyRequest({
  place,
  workspace,
  session,
  tool,
  path,
  command,
  risk,
}: PolicyForm): TriedPolicy | null {
  const where = (place === 'workspace' ? workspace : session).trim()
  if (where === '' || tool.trim() === '') return null
  return {
    ...(place === 'workspace' ? { workspace: where } : { session_id: where }),
    tool_name: tool.trim(),
    ...given({ file_path: path.trim(), command: command.trim() && command }),
    risk_level: risk,
  }
}

import { useMe } from '../data/me.ts'

interface CommandProps {
  /** What stands behind the name of the program. */
  children: string
  /** The command looks into the data of this server. */
  isAboutServer?: boolean
}

/** A command as one types it where the server was started. */
export function Command({ children, isAboutServer = false }: CommandProps) {
  const { name, data_dir_flag } = useMe().data?.program ?? { name: 'quarterdeck', data_dir_flag: '' }
  return <code>{`${name} ${children}${isAboutServer ? data_dir_flag : ''}`}</code>
}

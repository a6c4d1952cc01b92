import { ServerError } from '../domain/errors.ts'

/** For data of a checkout from before 0.1.0, the first release. Nothing reads it any more but the program that wrote it. */
export const beforeFirstRelease = (
  what: 'data directory' | 'database',
  found: number,
  /** The last commit that reads it. */
  readBy: string,
  otherPlace: string,
): ServerError =>
  new ServerError(
    'data_dir_older',
    `The ${what} was written before 0.1.0 (format ${found}), and this Quarterdeck cannot read it. Nothing was changed. To keep its sessions as JSON Lines, run \`sessions export\` in a checkout of commit ${readBy}. Then ${otherPlace}.`,
    { details: { found } },
  )

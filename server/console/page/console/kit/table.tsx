import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  title: string;
  cell(row: Row): ComponentChildren;
}

export interface TableProps<Row> {
  /** The first one leads to the row's own page, where it has one. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}

/** Rows of one kind; on a narrow screen each cell stands beside its title. */
export function Table<Row>({ columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table>
      <thead>
        <tr>
          {columns.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell }) => (
              <td key={title} data-title={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

import { throttleFrom } from 'headgate';

async function* rows() {
  for (let row = 1; row <= 3; row += 1) yield `row ${row}`; // of a database, read as they are sent
}

throttleFrom(rows(), async (row) => ({ row, length: row.length }), { ordered: true }).subscribe(
  ({ row, length }) => console.log(row, length),
);

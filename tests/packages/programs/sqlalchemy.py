import sqlalchemy
from sqlalchemy import orm


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]
    books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author")


class Book(Base):
    __tablename__ = "books"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str]
    author_id: orm.Mapped[int] = orm.mapped_column(sqlalchemy.ForeignKey("authors.id"))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")


engine = sqlalchemy.create_engine("sqlite://")
Base.metadata.create_all(engine)
with orm.Session(engine) as session:
    session.add_all(Author(name=f"a{i}", books=[Book(title=f"t{i}{j}") for j in range(i)]) for i in range(5))
    session.commit()
    query = sqlalchemy.select(Author.name, sqlalchemy.func.count(Book.id)).join(Book).group_by(Author.name)
    print(query, session.execute(query.order_by(Author.name)).all())
from sqlalchemy.util import has_compiled_ext

print(has_compiled_ext())

# Everything that a build tool might trip over: ; [ ] " ' \ ${variable} @name@ %s é 日本
text = "a;b;;c" + '"' + "\\" + "[[" + "]]" + "${not_a_variable} $ENV{HOME} @arrays@ #{x}"
  # tab	and trailing blanks   
